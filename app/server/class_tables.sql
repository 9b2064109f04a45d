-- The file of a class, whose version is in class_store.py.
CREATE TABLE class (name TEXT NOT NULL, is_held INTEGER NOT NULL);
CREATE TABLE learners (
    learner TEXT PRIMARY KEY, name TEXT DEFAULT '', spelled TEXT DEFAULT '', word TEXT DEFAULT '',
    num_others INTEGER DEFAULT 0, num_wrong INTEGER DEFAULT 0, after TEXT NOT NULL
);
CREATE UNIQUE INDEX learner_of_name ON learners (spelled) WHERE spelled <> '';
CREATE TABLE browsers (browser TEXT PRIMARY KEY, learner TEXT NOT NULL);
CREATE INDEX browsers_of_learner ON browsers (learner);
CREATE TABLE answers (
    learner TEXT, lesson TEXT, step INTEGER, answer TEXT, number REAL, is_right INTEGER, kind TEXT,
    seconds REAL, newest TEXT, num_changes INTEGER, is_right_later INTEGER,
    PRIMARY KEY (learner, lesson, step)
);
CREATE INDEX answers_of_lesson
    ON answers (lesson, step, answer, number, is_right, kind, num_changes);
CREATE TABLE told (
    lesson TEXT, step INTEGER, kind TEXT, why TEXT, PRIMARY KEY (lesson, step, kind)
);
CREATE TABLE findings (
    learner TEXT, name TEXT, page TEXT, link TEXT, text TEXT, seconds REAL
);
