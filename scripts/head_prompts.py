#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes prompts that a head learns from: mathematics, code, chat, questions, summaries and free tasks.

    scripts/head_prompts.py material 600 > material.jsonl
    vouch batch MODEL --prompts material.jsonl --raw --temp 0.9 --out texts.jsonl
    scripts/head_prompts.py lessons 12000 --texts texts.jsonl > prompts.jsonl

Most prompts are sentences of this file with names, numbers and topics filled in. Articles to be summarised and free tasks
come from the target itself: `material` writes beginnings of articles and of lists of tasks, the target goes on with
them, and `lessons` cuts its texts up. No sentence here comes from a benchmark. `vouch distill --exclude` still leaves out
every prompt that shares 8 words in a row with one.

The same arguments give the same prompts.
"""
import argparse
import json
import random
import re
import sys
from collections.abc import Iterator

SHARES = {"mathematics": 22, "code": 22, "chat": 20, "questions": 14, "summaries": 13, "free": 9}


def words(text: str) -> list[str]:
    return text.split()


def phrases(text: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in text.split("|")]


# The words for {name} in a sentence. {name2} is another one of the same list.
FILL = {
    "name": words("""Ada Bruno Clara Dmitri Elif Farid Greta Hugo Ines Jonas Kofi Lena Marco Nadia Omar Petra Quentin Rafael
        Selma Tomas Ulla Viktor Wanda Xenia Yusuf Zara Aiko Boris Chloe Diego Esther Fiona Gustav Hana Ivan Julia Karim Leila
        Milan Nora Otto Priya Rita Stefan Tariq Ursula Vera William Yana"""),
    "thing": words("""apples bricks candles carrots chairs chocolates crayons cups daffodils doughnuts envelopes figs flags
        hats keys lemons magnets masks mugs nails notebooks onions paintings peaches pens pillows plates potatoes puzzles
        ribbons roses sandwiches scarves seeds shells socks spoons stamps stones tiles tomatoes trees tulips umbrellas vases"""),
    "place": words("""airport aquarium bakery bookshop cafe canteen castle cinema farm garage harbour hospital hostel kiosk
        laboratory mill nursery office orchard parlour pharmacy playground pool port stadium studio supermarket theatre
        village warehouse workshop"""),
    "country": phrases("""Albania|Algeria|Austria|Bangladesh|Belgium|Bolivia|Bulgaria|Cambodia|Cameroon|Colombia|Costa Rica|
        Croatia|Denmark|Ecuador|Estonia|Ethiopia|Fiji|Georgia|Ghana|Hungary|Iran|Israel|Italy|Jordan|Kazakhstan|Laos|Latvia|
        Lebanon|Libya|Madagascar|Malaysia|Mali|Malta|Mongolia|Mozambique|Nepal|the Netherlands|Nicaragua|Pakistan|Panama|
        Paraguay|the Philippines|Romania|Rwanda|Senegal|Serbia|Singapore|Slovakia|South Korea|Spain|Sri Lanka|Sudan|Sweden|
        Switzerland|Syria|Tanzania|Tunisia|Uganda|Uruguay|Venezuela|Yemen|Zambia|Zimbabwe"""),
    "device": phrases("""abacus|accordion|air conditioner|anchor|barometer|calculator|cello|dishwasher|drum|electric motor|
        escalator|fire extinguisher|flute|gas mask|generator|gyroscope|harp|hearing aid|hot-air balloon|kite|lawn mower|lens|
        lighthouse|mirror|odometer|oven|pendulum|periscope|plough|pressure cooker|projector|radar|satellite|saxophone|
        seat belt|solar panel|stethoscope|submarine|sundial|syringe|toaster|tractor|transistor|turbine|vacuum cleaner|
        washing machine|water pump|wheelchair|windmill|wristwatch"""),
    "topic": phrases("""acid rain|algebra|antibiotics|artificial sweeteners|asteroids|auctions|bacteria|bees|biodiversity|
        bridges|caffeine|camouflage|carbon dating|cholesterol|coding theory|comets|composting|constitutional monarchy|
        coral reefs|cryptography|deserts|diffusion|earthquakes|echolocation|eclipses|enzymes|erosion|ethics|exchange rates|
        fossils|friction|game theory|genetics|glaciers|graph theory|habits|hibernation|hormones|hurricanes|hydropower|
        interest rates|irrigation|jet streams|judicial review|kidneys|latitude and longitude|lightning|logic|memory|metabolism|
        migration of birds|mirages|monopolies|muscles|nutrition|ocean currents|opportunity cost|optical illusions|pollination|
        probability|proteins|rainbows|recursion|refraction|rhetoric|semiconductors|sleep|solar flares|sound waves|statistics|
        stem cells|symbiosis|taxes|tectonic faults|tides|trade unions|urban planning|vaccines|viruses|vitamins|volcanoes|
        voting systems|weather forecasts|yeast"""),
    "event": phrases("""the American Revolution|the Berlin Airlift|the Boer War|the Boxer Rebellion|the Congress of Vienna|
        the Crimean War|the Cuban Missile Crisis|the Crusades|the Dust Bowl|the English Civil War|the fall of Constantinople|
        the fall of the Berlin Wall|the First Opium War|the Great Fire of London|the Great Migration|the Hundred Years' War|
        the Irish Famine|the Meiji Restoration|the Mexican Revolution|the Moon landing|the Norman Conquest|the Peloponnesian
        War|the Prague Spring|the Reformation|the Russian Revolution|the Scramble for Africa|the Spanish Armada|the Spanish
        Civil War|the Suez Crisis|the Thirty Years' War|the Treaty of Versailles|the Wars of the Roses"""),
    "person": phrases("""Ada Lovelace|Alexander Fleming|Archimedes|Aristotle|Catherine the Great|Charles Darwin|Cleopatra|
        Confucius|Copernicus|Dante|Emily Bronte|Florence Nightingale|Frida Kahlo|Galileo|Genghis Khan|Hannibal|Homer|
        Ibn Battuta|Isaac Newton|Jane Austen|Joan of Arc|Johann Sebastian Bach|Julius Caesar|Leonardo da Vinci|Louis Pasteur|
        Mahatma Gandhi|Marie Curie|Mary Shelley|Mozart|Nelson Mandela|Nikola Tesla|Picasso|Plato|Rembrandt|Rosa Parks|
        Simon Bolivar|Socrates|Thomas Edison|Vincent van Gogh|Voltaire"""),
    "animal": phrases("""badger|beaver|bumblebee|camel|chameleon|cheetah|cod|crane|crow|dolphin|eagle|eel|falcon|frog|gecko|
        giraffe|goose|gorilla|hedgehog|heron|hippopotamus|hyena|jellyfish|kangaroo|kingfisher|koala|llama|lobster|lynx|mole|
        moose|octopus|ostrich|otter|owl|panda|parrot|pelican|penguin|puffin|raccoon|reindeer|salmon|scorpion|seahorse|shark|
        sloth|snail|squirrel|swan|tortoise|turkey|vulture|walrus|wombat|woodpecker|zebra"""),
    "subject": phrases("""a neighbour's piano|apples in autumn|board games|camping with children|cheap dinners|choosing a
        bicycle|city life|cleaning up a beach|cold winters|a colleague who is always late|a community garden|daily exercise|
        a delayed delivery|a desert island|a difficult exam|digital privacy|early mornings|a family reunion|fear of heights|
        first aid|a flat tyre|a forgotten treasure|friendship|a garden in spring|generosity|getting lost|a glass city|
        growing old|holidays by train|homework|honesty|a house by a river|keeping a diary|keeping bees|kindness|a kitchen
        fire|learning a language|a letter that never arrived|a long night shift|losing a bet|making new friends|a missed
        train|a mountain pass|moving house|night buses|noise in cities|online shops|parents and teenagers|patience|plastic
        waste|a power cut|public libraries|a secret door|shared flats|short films|a singing cat|a snowstorm|starting a small
        business|a stolen painting|street food|a strange dream|sustainable fashion|a talking tree|tea|television|a theatre
        club|thunder|tourism|a treasure map|used cars|the value of money|a vegetable soup|video games|wildlife|wind power|
        working in a team|a world without clocks|writing letters"""),
    "role": phrases("""an old sailor|a gardener|a judge|a beekeeper|a tired waiter|a music teacher|a mountain guide|a spy|an
        alien visitor|an architect|a baker|a weather presenter|a librarian|a philosopher|a dragon|a shopkeeper|a nurse|a
        newspaper editor|a firefighter|a circus clown|a museum guard|a taxi driver|a grumpy king|an economist|a ghost|a
        physicist|a sports commentator|a carpenter|a diplomat|a marine biologist"""),
    "task": phrases("""adds two fractions and reduces the result|adds up the digits of an integer|adds up the diagonal of a
        square matrix|appends a line to a log file|applies a function to all values of a dictionary|builds an acronym from a
        phrase|calculates a body mass index|calculates the area of a polygon|changes snake case to camel case|checks a
        credit card number with the Luhn algorithm|checks whether a graph has a cycle|checks whether a string is a number|
        checks whether a year is a leap year|checks whether one list is a sublist of another|checks whether two rectangles
        overlap|clamps a number to a range|collects the leaves of a tree|compresses a string by counting repeated
        characters|computes a checksum of a file|computes a moving average|computes the cosine similarity of two vectors|
        computes the n-th triangular number|computes the power of a number by repeated squaring|computes the standard
        deviation of a list|computes the Hamming distance of two strings|converts a date to the day of the week|converts a
        decimal number to hexadecimal|converts kilometres to miles|converts minutes to hours and minutes|copies a directory|
        counts consonants|counts inversions in a list|counts the coins needed for an amount|counts the islands in a grid|
        counts the lines of a file that contain a word|counts the set bits of an integer|deletes a node from a binary search
        tree|draws a chessboard with characters|escapes the special characters of HTML|estimates pi with random points|
        evaluates an expression in reverse Polish notation|evaluates a polynomial|fills a grid in a spiral|filters the
        adults from a list of people|finds all divisors of an integer|finds all permutations of a short string|finds the
        closest point to a given point|finds the index of the smallest element|finds the kth largest element|finds the
        longest increasing subsequence|finds the shortest path in a maze|finds the shortest word in a text|finds the two
        numbers with the largest product|formats a number with thousands separators|generates all subsets of a set|generates
        Pascal's triangle|groups words by their first letter|hashes a password|implements a hash map|implements a linked
        list with insert and delete|implements a least recently used cache|implements a priority queue|implements a simple
        bank account|implements a trie|implements merge sort|implements quicksort|interleaves two lists|inverts a
        dictionary|joins two tables on a key|keeps the last n lines of a stream|lists all files with a given extension|loads
        settings from a JSON file|makes a countdown timer|masks all but the last four digits of a number|measures the time
        of a function call|moves all zeros to the end of a list|normalises a vector|pads a string on the left|parses a query
        string|parses a time such as 12:45|partitions a list by a condition|picks a random element by weight|plays rock, paper
        and scissors|prints a calendar of a month|prints the numbers of a list that are larger than their predecessor|
        prints a pyramid of numbers|ranks students by their marks|reads numbers from a file and prints their maximum|removes
        adjacent duplicates from a string|removes comments from source code|renames files in a folder|rotates a matrix by 90
        degrees|rounds a number to the nearest multiple of five|runs a binary search over a sorted array of strings|searches
        a string for a pattern|sends an email|shuffles a deck of cards|simulates a bank queue|simulates the game of life|
        solves a quadratic equation|solves the towers of Hanoi|sorts a dictionary by its values|sorts people by age and
        name|splits a sentence into words without split|splits a string at capital letters|sums a column of a spreadsheet|
        swaps two variables|swaps the halves of a list|tests whether a matrix is symmetric|tokenises an arithmetic
        expression|translates a word into Morse code|trims a list to its first n elements|turns a list of pairs into a
        dictionary|updates the stock of a shop|validates a phone number|validates a sudoku row|wraps a text at 80 columns|
        writes a list of dictionaries as CSV"""),
    "def": words("""add_all alternate any_match apply_twice best_score between bigger_than build_index char_map chunks clean
        collapse compress_runs convert cross_sum cycle_left difference digit_root drop_while every_nth evens expand fill_gaps
        find_peak fold gaps group_by histogram initials insert_sorted interleave join_names keep_positive largest_gap
        last_word letters_only line_lengths mask merge_counts middle mirror nearest normalize odd_positions overlap pad
        pairwise partition peaks position_of powers prefix_sums rank rearrange repeat_each running_max scale score_word
        shift_letters shortest signs skip_every smooth squares_of strip_digits sum_between swap_ends take_until tally total
        transform trim_zeros unzip values_above vowels_first weave wrap zigzag"""),
    "arguments": phrases("""values: list[int]) -> int|values: list[float]) -> float|items: list[str]) -> list[str]|word: str)
        -> str|sentence: str) -> str|sentence: str) -> list[str]|n: int) -> int|n: int) -> list[int]|a: int, b: int) -> bool|
        grid: list[list[int]]) -> int|table: dict[str, int]) -> str|xs, k|items, start, end|data|text, width|points, centre|
        first: str, second: str) -> bool|numbers: list[int], limit: int) -> list[int]"""),
    "language": phrases("Python|Python|Python|Python|JavaScript|Java|C|C++|Go|Rust|SQL|Bash"),
    "percent": [str(n) for n in (5, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 75, 80, 90)],
    "few": [str(n) for n in range(2, 13)],
    "some": [str(n) for n in range(8, 61)],
    "many": [str(n) for n in list(range(40, 1000, 5)) + [1200, 1500, 2000, 2400, 3600, 5000]],
    "part": phrases("half|a third|a quarter|two thirds|three quarters|a fifth|a tenth"),
    "times": phrases("half|a third|a quarter|twice|three times|four times"),
}

SENTENCES = {
    "mathematics": """\
{name} keeps {thing} in {few} baskets with {some} in each. After {name2} takes {few2} from every basket, how many are left?
The {place} ordered {many} {thing}, but {percent}% of them arrived broken. The good ones are packed in boxes of {few}. How many boxes are needed?
{name} saves ${some} every week and spends ${few} of it on {thing}. After how many weeks does {name} have ${many}?
Tickets for the {place} cost ${some} for adults and ${few} for children. A group of {few2} adults and {some2} children pays together. How much is it?
{name} cycles {some} kilometres on the first day of a tour. Each day after that is {few} kilometres longer. How far is the tour if it takes {few2} days?
A tank holds {many} litres. One pipe fills it at {some} litres a minute while another drains {few} litres a minute. When is the tank full?
{name} and {name2} share ${many} so that {name2} gets {part} of what {name} gets. How much does each of them get?
Of the {many} visitors of the {place}, {percent}% came by bus, {few} walked, and the rest came by car. How many came by car?
A pack of {some} {thing} costs ${few}, and one with {some2} costs ${few2}. Which pack is cheaper for each piece?
{name} works {few} hours on weekdays and {few2} hours on Saturdays at ${some} an hour. What does {name} earn in four weeks?
A baker uses {few} eggs for a cake and {few2} for a tray of biscuits. How many eggs are needed for {some} cakes and {few} trays?
{name} walked {part} of the way to the {place}, then took a bus for {some} kilometres and arrived. How long was the whole way?
The sum of three consecutive numbers is {many}. What are they?
{name} is {few} times as old as {name2}. In {some} years the two will be {many} years old together. How old is {name2}?
A car needs {few} litres of petrol for {some} kilometres, and petrol costs ${few2} a litre. What does a trip of {many} kilometres cost?
{name} reads {some} pages on Monday and {few} pages more on each of the next days. How many pages has {name} read by Friday?
The {place} sold {many} {thing} in spring, and in summer {times} as many. What did it earn if each one costs ${few}?
{name} bought {few} shirts for ${some} each and {few2} pairs of trousers for ${some2} each. There was a discount of {percent}%. What was the bill?
A rectangle is {some} cm long, and its width is {few} cm less. What are its area and its perimeter?
A school has {many} pupils in {few} equal years. In each year {percent}% play an instrument. How many pupils play one?
{name} puts ${many} into a savings account with {few}% interest a year. How much is there after {few2} years?
It takes {few} painters {some} hours to paint the {place}. How long would {few2} painters take?
In a box are {few} red, {few2} green and {some} blue {thing}. {name} takes one without looking. What is the probability that it isn't blue?
{name} had some {thing}. After giving {few} to {name2} and {part} of the rest to {name3}, {some} were left. How many were there at the start?
The train leaves the {place} at {few}:{some} in the morning and travels {many} km at {some2} km per hour. At what time does it arrive?
A farmer has {some} cows and {some2} hens. How many legs do the animals have together, and how many more are there when {few} calves are born?
Solve the equation {few}x - {some} = {some2}.
Solve for y: {few}(y + {few2}) = {many}
Compute {some} x {some2} - {many}.
What is {percent} percent of {many}?
Simplify {few}a + {some}b - {few2}a + {few}b.
What is the value of x^2 - {few}x + {few2} at x = {few3}?
Find the greatest common divisor of {many} and {many2}.
Write {some}/{many} as a decimal number and as a percentage.
A circle has a radius of {few} cm. What are its circumference and its area?
The average of {few} numbers is {some}. Four of them are {some2}, {few2}, {some3} and {few3}. Find the missing ones' sum.
What comes next: {few}, {some}, {some2}, {many}? Explain the rule that you assume.
How many ways are there to choose {few} of {some} {thing}?""",
    "code": """\
Write code in {language} that {task}.
Write a {language} function that {task}. Add a comment for each step.
I need a short {language} program that {task}. Can you help?
Show me how to write a function in {language} that {task}, and test it with three examples.
In {language}, what is the simplest code that {task}?
My {language} code should do this: it {task}. Please write it and explain how it works.
Write a class in {language} with a method that {task} and one that {task2}.
Write two versions of a function that {task}, one with a loop and one with recursion.
Explain the algorithm behind code that {task}. What is its complexity?
Write unit tests for a {language} function that {task}.
How would you handle errors in {language} code that {task}?
Give me pseudocode that {task}, and then turn it into {language}.
What is the difference between a {language} function that {task} and one that {task2}?""",
    "chat": """\
Write a story of three paragraphs about {subject}.
Write a short poem with rhymes about {subject}.
Write a funny dialogue between {role} and {role2}. They talk about {subject}.
Imagine that you are {role}. How would you explain {topic}?
You are {role}. Somebody asks you about {subject}. Answer in your own style.
Answer as {role} would: what do you think of {subject}?
Help me write a polite email about {subject}.
Write a letter of complaint about {subject}.
Write an introduction for an essay about {subject}.
What are good arguments for and against {subject}?
Give me seven ideas for a talk on {topic}, one sentence each.
Plan a lesson about {topic} for pupils of twelve years.
Make a checklist for {subject}.
I feel worried because of {subject}. What can I do?
Suggest a title and an outline for a book about {topic} and {subject}.
Write an advertisement for a new {device}.
Write a product review of a {device} that has one serious fault.
Describe a day in the life of {role}.
Describe {country} to somebody who has never been there.
Compare {topic} with {topic2} in a table, and then in one sentence.
How do {topic} affect the economy and society of a country such as {country}? Give examples.
Explain {topic} first to a child and then to a student.
What would the world be like without {topic}?
Name three experiments about {topic} that can be done at home, with the steps of each.
What did {person} do, and why does it still matter today?
Let {person} and {person2} discuss {subject}.
Correct the mistakes in this text: "{name} go to the {place} yesterday and buyed {few} {thing}, because they was cheap."
Rewrite this sentence in a formal style: {name} can't come to the {place} because of {subject}.
List all names, places and numbers in this note: On May {few}, {name} from {country} sold {some} {thing} to {name2} at the {place} for ${many}.
Turn this into JSON with the fields buyer, item, count and price: {name} bought {some} {thing} for {many} dollars.
Sort these by size: {animal}, {animal2}, {animal3}, {animal4}.
Which word doesn't belong to the others: {animal}, {animal2}, {device}, {animal3}? Why?
{name} is taller than {name2}, and {name2} is taller than {name3}. Who is the shortest? Explain your answer.
All {thing} in the {place} are made of glass. Some things in the {place} are {thing2}. Are some {thing2} made of glass?
Rate these statements from 1 to 10 by how friendly they are: "{name}, leave me alone!" and "Thanks for the {thing}, {name2}."
Write a weekly menu around {thing} and {thing2}.
Give feedback on my plan: I want to move to {country}, learn about {topic} and open a {place}.
Translate into Spanish and then explain the grammar: {name} has lost the {thing} at the {place}.""",
    "questions": """\
who made the first {device}
what is a {device} used for
when did people start to use the {device}
what parts does a {device} have
how much does a {device} cost
where is {country} on the map
what is the population of {country}
what money do they use in {country}
who is the president of {country}
which countries border {country}
what is {country} famous for
what do people eat in {country}
when did {country} join the united nations
what is the national animal of {country}
what are {topic}
why do {topic} exist
how do {topic} work
what is the difference between {topic} and {topic2}
who first studied {topic}
where can we see {topic} in daily life
what caused {event}
when was {event}
who took part in {event}
how did {event} end
why is {event} important
where was {person} born
when did {person} die
what is {person} best known for
who was {person} married to
where do {animal}s live
what does a {animal} eat
how long does a {animal} live
is a {animal} dangerous
how fast is a {animal}
what is a baby {animal} called
how many bones does a {animal} have
who wrote the famous book about {subject}
what is the oldest {place} in {country}
who has won the most medals for {country}
when was the first {place} built in {country}""",
}

SUMMARIES = phrases("""Summarize: {text}|Summarize: {text}|Summarize: {text}|Summarize: {text}|Summarise this text: {text}|{text}\n
    What is the main point of this text?|Give the most important facts of the following report. {text}|In two sentences,
    what does this say? {text}|Shorten this article to one paragraph: {text}|{text} TL;DR""")

ARTICLES = """\
Police in {country} are looking for {role} who
The government of {country} said on Monday that {topic}
A court in {country} has decided that {role}
Scientists at a university in {country} have found that {topic}
After {few} years of work, the new {place} in {country}
{name} Novak, {some}, from a small town in {country}, was surprised when
Thousands of people in {country} went to the streets on Saturday because
The football team of {country} won against {country2} in
(Reuters) - A company from {country} that makes {thing} said
By {name} Miller. It was a long night for {role} and the people of
Fans of {person} can soon visit a {place} where
A report about {topic}, published on Thursday, shows that
The number of {animal}s in {country} has fallen by {percent} percent since
When {name} Baker lost {thing} worth ${many} at the {place}, nobody
Two men were arrested at the {place} after
A storm hit the coast of {country} on Sunday, and
The film about {subject}, which opens this week,
Parents who worry about {topic} should know that
A {animal} that escaped from a zoo in {country} has been
The price of {thing} has risen by {percent} percent this year because""".split("\n")


def fill(sentence: str, r: random.Random) -> str:
    """Each field {list} or {list2} becomes an element of its list. One sentence takes no element twice."""
    taken: dict[str, str] = {}

    def element(match: re.Match) -> str:
        field = match.group(1)
        if field not in taken:
            choices = FILL[field.rstrip("0123456789")]
            taken[field] = r.choice([c for c in choices if c not in taken.values()])
        return taken[field]

    return re.sub(r"\{([a-z]+[0-9]?)\}", element, sentence)


def signature(r: random.Random) -> str:
    """The beginning of a Python function, with the comment that says what it does."""
    task = fill("{task}", r)
    head = fill("def {def}({arguments}", r)
    if ")" not in head:
        head += ")"
    imports = r.choice(["", "", "\n", "import math\n\n\n", "import re\n\n\n"])
    example = r.choice(["", "", f"    Example: {head[4:head.index('(')]}(...) -> ...\n"])
    return f'{imports}{head}:\n    """{task[0].upper()}{task[1:]}.\n{example}    """\n'


def template(kind: str, r: random.Random) -> str:
    if kind == "code" and r.random() < 0.5:
        return signature(r)
    text = fill(r.choice(SENTENCES[kind].split("\n")), r)
    if kind == "questions" and r.random() < 0.4:
        text = text[0].upper() + text[1:] + "?"
    return text


# ------------------------------------------------------------------------ texts of the target

def beginning(i: int, r: random.Random) -> dict:
    """A text that the target goes on with: an article, or a list of tasks."""
    if i % 3:
        return {"question_id": f"article {i}", "prompt": fill(r.choice(ARTICLES), r)}
    kinds = r.choices(("chat", "questions", "code"), (4, 2, 1), k=3)
    sentences = [fill(r.choice(SENTENCES[kind].split("\n")), r) for kind in kinds]
    listed = "".join(f"{n + 1}. {s[0].upper()}{s[1:]}\n" for n, s in enumerate(sentences))
    return {"question_id": f"tasks {i}", "prompt": "Tasks and questions for an assistant, all different\n\n" + listed + "4."}


def without_repeats(text: str) -> str:
    """The text up to the first sentence that it has had before."""
    had, kept = set(), []
    for sentence in re.findall(r".+?(?:[.!?\"]+(?=\s)|\n|$)\s*", text, re.S):
        key = sentence.strip().lower()
        if key in had:
            break
        had.add(key)
        kept.append(sentence)
    return "".join(kept).strip()


def articles(begun: dict[str, str], answers: list[dict]) -> list[str]:
    """Whole sentences, at least 60 words of them."""
    found = []
    for answer in answers:
        if not answer["id"].startswith("article"):
            continue
        text = without_repeats(begun[answer["id"]] + answer["text"])
        end = max(text.rfind(". "), text.rfind(".\n"), text.rfind('."')) if not text.endswith(".") else len(text)
        if len(text[:end + 1].split()) >= 60:
            found.append(text[:end + 1])
    return found


def tasks(answers: list[dict]) -> list[str]:
    """The lines of the lists that the target made, each once."""
    found: dict[str, None] = {}
    for answer in answers:
        if not answer["id"].startswith("tasks"):
            continue
        lines = ("4." + answer["text"]).split("\n")
        if answer["finish"] == "length":
            lines.pop()
        for line in lines:
            item = re.fullmatch(r"\d+\.\s+(\S.{14,300})", line.strip())
            if item:
                found[item.group(1).replace("**", "")] = None
    return list(found)


def lessons(n: int, seed: int, texts: str) -> Iterator[dict]:
    """n different prompts, the kinds mixed by SHARES."""
    r = random.Random(seed)
    with open(texts, encoding="utf-8") as lines:
        answers = [json.loads(line) for line in lines]
    begun = {b["question_id"]: b["prompt"] for b in material(len(answers), seed)}
    long_texts, free = articles(begun, answers), tasks(answers)
    r.shuffle(free)
    had = set()
    while len(had) < n:
        kind = r.choices(list(SHARES), list(SHARES.values()))[0]
        if kind == "summaries":
            prompt = r.choice(SUMMARIES).replace("{text}", r.choice(long_texts))
        elif kind == "free":
            if not free:
                continue
            prompt = free.pop()
        else:
            prompt = template(kind, r)
        if prompt not in had:
            had.add(prompt)
            yield {"question_id": len(had), "category": kind, "prompt": prompt}


def material(n: int, seed: int) -> Iterator[dict]:
    r = random.Random(seed + 1)
    return (beginning(i, r) for i in range(n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("material", "lessons"))
    parser.add_argument("n", type=int, help="number of prompts")
    parser.add_argument("--texts", help="for lessons: what `vouch batch` wrote for the material")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.what == "lessons" and not args.texts:
        parser.error("--texts FILE is missing: the target's texts for the material")
    for prompt in material(args.n, args.seed) if args.what == "material" else lessons(args.n, args.seed, args.texts):
        json.dump(prompt, sys.stdout, ensure_ascii=False)
        print()


if __name__ == "__main__":
    main()
