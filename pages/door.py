from app.screens.door import page

page.draw()
