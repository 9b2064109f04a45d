from app.lessons import page

page.draw()
