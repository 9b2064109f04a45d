-- What learners with a name did; a clock that jumps makes no minutes, and none negative.
WITH page AS (
    SELECT learner, name, num_others, num_wrong, after, word, spelled,
        (SELECT count(*) FROM browsers WHERE browsers.learner = learners.learner) AS num_browsers
    FROM learners WHERE name <> '' ORDER BY spelled LIMIT :most OFFSET :start
), given AS (
    SELECT learner, answer <> '' AND lesson NOT LIKE '%-own' AS counts, is_right,
        is_right_later, lesson LIKE '%-own' AND is_right AS on_own,
        min(max(seconds - lag(seconds) OVER (PARTITION BY learner ORDER BY answers.rowid), 0),
            :longest) AS pause
    FROM answers WHERE learner IN (SELECT learner FROM page)
)
SELECT name, coalesce(sum(counts), 0), coalesce(sum(counts AND is_right), 0),
    coalesce(sum(counts AND is_right_later AND NOT is_right), 0), coalesce(sum(on_own), 0),
    coalesce(sum(pause), 0) / 60, num_browsers, num_others, num_wrong, after, word
FROM page LEFT JOIN given USING (learner) GROUP BY learner ORDER BY spelled
