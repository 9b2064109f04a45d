from app.screens.what_if import page

page.draw()
