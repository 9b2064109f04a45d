from app.objectives import page

page.draw()
