from app.screens.attention import page

page.draw()
