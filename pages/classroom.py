from app.screens.classroom import page

page.draw()
