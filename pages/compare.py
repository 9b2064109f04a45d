from app.screens.compare import page

page.draw()
