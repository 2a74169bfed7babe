"""What do people ask for that a catalog has no tool for, and how are tools asked for in two words?

Checked by hand against the catalogs named: no tool of `github` serves any of EVERYDAY or ERRANDS,
none of `livemcp` any of ERRANDS, and some tool of its catalog serves each of KEYWORDS. The labelled
sets hold no such queries; a model's own searches look more like these than like those.
"""

EVERYDAY = """
play chess
weather in paris tomorrow
send gmail email
order a pepperoni pizza for tonight
reserve a table at an italian restaurant
call a taxi to the airport
wake me up at seven
play some jazz
turn up the volume
text my mother that I am late
what time does the pharmacy close
track my parcel
find a plumber near me
rent a bicycle for the weekend
buy two tickets for the opera
translate good morning into swahili
horoscope for pisces
who won the football match yesterday
convert 20 euros to yen
recipe for pumpkin soup
train from vienna to prague
cheap flights to lisbon
charge the electric car
tell me a joke
roll two dice
Could you please find me a nice hotel with a pool in Crete for the second week of July?
I'd like to know whether it is going to snow in Oslo at the weekend.
Which wine goes well with grilled salmon?
I want to learn how to dance salsa, is there a beginner class nearby?
What was the score of the basketball game last night?
""".strip().splitlines()

ERRANDS = """
turn off the kitchen lights
book a haircut for friday afternoon
water the tomatoes in the greenhouse
feed the cat
walk the dog
vacuum the living room
unclog the bathroom sink
set the thermostat to 21 degrees
preheat the oven
lock the front door
what is on my grocery list
buy milk and eggs
renew my driving licence
pay the electricity bill
book a dentist appointment
start the washing machine
open the garage door
remind me to take my medicine
sing a lullaby
my knee hurts after running
change a flat tyre
sew a button on a shirt
knit a scarf
tune a guitar
iron my shirts
paint the fence
mow the lawn
prune the roses
babysitter for saturday evening
wrap a birthday present
Can you order a bouquet of tulips and have it delivered to my grandmother on Sunday?
My dishwasher is leaking, please get somebody to repair it today.
Please transfer 200 dollars from my savings to my checking account.
""".strip().splitlines()

KEYWORDS = {
    "github": """
merge a PR
list open bugs
open a new ticket
create repo
who am I
fork a repository
comment on an issue
close issue
search code
list my starred repos
star a repository
unstar repo
new branch
branches of a repo
latest release
download job logs
failed workflow run
rerun failed jobs
dependabot alerts
secret scanning
security advisories
list gists
edit gist
push several files in one commit
read a file
delete file
commit history
show a commit
who changed this line
tags
release for tag v1.2
notifications
mark notifications as read
add label
assign issue to someone
request a reviewer
approve pull request
resolve review thread
add emoji reaction
sub-issues
find duplicate issues
team members
organizations
find users in Berlin
discussion comments
milestone
reopen issue
ask copilot to review
project board items
collaborators
change the title of a pull request
pull request diff
trigger a GitHub Actions workflow
repository tree
blame
code quality
""".strip().splitlines(),
    "livemcp": """
stock price of Apple
weather in Berlin
screenshot of a web page
click a button
convert time zones
exchange rate usd eur
read pdf
merge pdfs
search arxiv papers
download paper
youtube transcript
bitcoin price
flip a coin
random number
bar chart
pie chart
mind map from markdown
add slide
create word document
excel formula
git commit
docker logs
list containers
whois domain
train tickets
recipes
geocode address
driving directions
nearby restaurants
airbnb listings
wikipedia article
hacker news stories
npm package downloads
maven versions
chess moves
image metadata
sitemap pages
read file
move file
list directory
create note
knowledge graph entities
leetcode problems
fear and greed index
museum objects
gene variants
clinical trials
dataset search
icons
draw a rectangle
beat tracking
validate mermaid diagram
calculate an expression
fetch a url
trending github repos
library documentation
""".strip().splitlines(),
}
