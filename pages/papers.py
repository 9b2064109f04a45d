from app.papers import page

page.draw()
