"""Sentences with one word in several senses, written for this project."""

from bertcore.data.texts_file import Sentence

_TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
    "bank": {
        "money": (
            "She opened an account at the bank to save some money.",
            "The bank lent him enough to buy a small house.",
            "He works for a large bank in the city.",
            "The bank raised its interest rate again last month.",
            "They took the cheque to the bank on Monday morning.",
            "Two men robbed the bank and escaped in a stolen car.",
            "The government gave the bank a loan to keep it alive.",
            "Her salary is paid into the bank at the end of the month.",
            "The bank refused to pay out the money without a signature.",
            "My uncle was the manager of a small bank for thirty years.",
            "She asked the bank for a loan to open a shop.",
            "The bank closes at four and does not open on Sundays.",
            "He kept all of his gold in the vault of the bank.",
            "Every bank in the country lost money that year.",
            "A clerk at the bank counted the notes twice.",
            "The company owes the bank more than a million dollars.",
            "You can change your foreign coins at the bank near the station.",
            "The old bank failed and its customers lost their savings.",
            "They will sell the house to pay their debt to the bank.",
            "The new bank offers cheap credit to farmers.",
        ),
        "river": (
            "We sat on the bank and watched the river flow past.",
            "The boat was tied to a tree on the bank of the stream.",
            "After the rain the river broke over its bank.",
            "A heron stood still on the muddy bank of the lake.",
            "The village lies on the left bank of the Danube.",
            "He climbed up the steep bank and shook the water off.",
            "Flowers grew all along the bank of the canal.",
            "The fisherman walked down the bank to the water.",
            "The children ran along the bank and threw stones at the ducks.",
            "An otter has its hole under the roots in the bank.",
            "We pulled the canoe up on the grassy bank and made a fire.",
            "Willows lean over the stream from the other bank.",
            "The flood washed away a part of the northern bank.",
            "The ferry crossed slowly from one bank to the other.",
            "Cows came down to the bank to drink in the evening.",
            "He slipped on the wet bank and fell into the river.",
            "Reeds hide the bank where the swans have their nest.",
            "A narrow path follows the bank as far as the mill.",
            "The swimmer reached the far bank tired and cold.",
            "The bank is too low here and the fields are under water.",
        ),
    },
    "spring": {
        "season": (
            "In spring the birds come back from the south.",
            "The garden is full of flowers every spring.",
            "He was born in the spring of 1902.",
            "After a long winter spring came late that year.",
            "The school year ends in spring and the summer is free.",
            "Farmers sow the corn in early spring.",
        ),
        "water": (
            "They drank cold water from the spring in the rock.",
            "A hot spring rises at the foot of the mountain.",
            "The stream begins at a small spring in the forest.",
            "The monks built a chapel over the holy spring.",
            "Clear water flowed out of the spring into the valley.",
            "The town grew around a mineral spring known to the Romans.",
        ),
        "coil": (
            "The spring inside the lock was broken.",
            "A steel spring pushes the bolt back into place.",
            "He wound the spring of the old clock.",
            "The weight hangs from a spring and moves up and down.",
            "Press the lever and the spring will close the door.",
            "Each wheel has its own spring and shock absorber.",
        ),
    },
    "bat": {
        "animal": (
            "The bat hung upside down in the dark cave.",
            "A bat finds insects at night by its own echo.",
            "This bat eats fruit and carries the seeds through the forest.",
            "The wings of a bat are made of thin skin.",
            "A small brown bat flew out of the old tower.",
            "The bat sleeps through the winter in hollow trees.",
        ),
        "sport": (
            "He swung the bat and hit the ball over the fence.",
            "The player broke his bat in the second game.",
            "She bought a new wooden bat for the season.",
            "The ball struck the edge of his bat and was caught.",
            "A baseball bat must be round and smooth.",
            "He scored fifty runs with a borrowed bat.",
        ),
    },
    "match": {
        "game": (
            "The team won the last match of the season.",
            "The match ended without a goal.",
            "Thousands of people came to watch the football match.",
            "She lost the tennis match in three sets.",
            "The referee stopped the match because of the rain.",
            "He scored twice in his first match for the club.",
        ),
        "fire": (
            "He struck a match and lit the candle.",
            "The last match in the box was wet and would not burn.",
            "She held a burning match to the dry paper.",
            "A single match can set a whole forest on fire.",
            "He dropped the match when the flame reached his fingers.",
            "The lamp was lit with a match every evening.",
        ),
    },
}

SETS: dict[str, tuple[Sentence, ...]] = {
    word: tuple(Sentence(text, None, sense) for sense, texts in senses.items() for text in texts)
    for word, senses in _TEXTS.items()
}
"""For each word its sentences, labelled by sense."""
