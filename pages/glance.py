from app.glance import page

page.draw()
