from app.heads import page

page.draw()
