from app.compare import page

page.draw()
