from app.bias import page

page.draw()
