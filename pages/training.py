from app.screens.training import page

page.draw()
