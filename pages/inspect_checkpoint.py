from app.inspect_checkpoint import page

page.draw()
