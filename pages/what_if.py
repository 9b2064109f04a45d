from app.what_if import page

page.draw()
