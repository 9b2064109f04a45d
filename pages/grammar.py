from app.grammar import page

page.draw()
