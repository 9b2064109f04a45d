from app.tokens import page

page.draw()
