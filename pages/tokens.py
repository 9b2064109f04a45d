from app.screens.tokens import page

page.draw()
