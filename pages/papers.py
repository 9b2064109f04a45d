from app.screens.papers import page

page.draw()
