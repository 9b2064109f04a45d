from app.screens.objectives import page

page.draw()
