from app.screens.bias import page

page.draw()
