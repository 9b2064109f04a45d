from app.screens.lessons import page

page.draw()
