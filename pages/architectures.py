from app.screens.architectures import page

page.draw()
