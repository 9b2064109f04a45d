from app.architectures import page

page.draw()
