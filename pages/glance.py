from app.screens.glance import page

page.draw()
