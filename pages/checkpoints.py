from app.checkpoints import page

page.draw()
