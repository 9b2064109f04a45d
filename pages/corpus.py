from app.corpus import page

page.draw()
