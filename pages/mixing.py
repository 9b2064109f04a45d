from app.mixing import page

page.draw()
