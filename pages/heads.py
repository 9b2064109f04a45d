from app.screens.heads import page

page.draw()
