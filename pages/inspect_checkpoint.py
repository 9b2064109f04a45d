from app.screens.inspect_checkpoint import page

page.draw()
