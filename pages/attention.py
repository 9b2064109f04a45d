from app.attention import page

page.draw()
