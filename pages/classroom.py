from app.classroom import page

page.draw()
