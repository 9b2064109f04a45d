from app.minimal_pair import page

page.draw()
