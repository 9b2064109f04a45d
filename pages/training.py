from app.training import page

page.draw()
