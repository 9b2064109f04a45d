from app.screens.minimal_pair import page

page.draw()
