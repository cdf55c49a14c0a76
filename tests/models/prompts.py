"""300 prompts that nobody calibrated for, the same each time: prompts.py VOCABULARY SPECIALS... > FILE.

A line each, a JSON string or an array of token ids. VOCABULARY: number of tokens; SPECIALS: ids of special tokens."""

import json
import random
import sys

SENTENCES = [
    "The committee will meet on Thursday to discuss the budget for the coming year.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "My grandmother kept bees behind the barn until she was ninety-one.",
    "If the train is late again, we shall have to walk home through the rain.",
    "Er hat den Schlüssel verloren und musste die ganze Nacht draußen warten.",
    "Die Universität veröffentlicht jedes Jahr über zweihundert Forschungsberichte.",
    "La bibliothèque ferme à dix-huit heures, sauf le mercredi.",
    "Nous avons traversé la forêt sans voir un seul oiseau.",
    "El tren sale a las siete y llega antes del mediodía.",
    "Mi hermana aprendió a tocar la guitarra en dos semanas.",
    "Il mercato apre presto e chiude quando finisce il pesce.",
    "O barco voltou ao porto com as redes vazias.",
    "De fietser stopte bij de brug om een foto te maken.",
    "Vi gick längs stranden tills solen gick ner.",
    "Pociąg spóźnił się o trzy godziny z powodu śniegu.",
    "Kedi pencerenin önünde uyuyor, dışarıda kar yağıyor.",
    "Завтра утром мы поедем в город за книгами и хлебом.",
    "Учёные открыли новый вид рыб на большой глубине.",
    "Ο γιατρός είπε ότι πρέπει να ξεκουραστεί μια εβδομάδα.",
    "הספרייה סגורה היום בגלל החג.",
    "ذهب الولد إلى السوق ليشتري الخبز والحليب.",
    "यह पुस्तक बहुत पुरानी है और इसके पन्ने पीले हो गए हैं।",
    "মেয়েটি প্রতিদিন সকালে নদীতে সাঁতার কাটে।",
    "เด็กๆ กำลังเล่นอยู่ในสวนหลังบ้าน",
    "Hôm nay trời đẹp nên chúng tôi đi dạo quanh hồ.",
    "他昨天买了三本书，今天已经读完了两本。",
    "科学家在深海中发现了一种新的鱼类。",
    "明日の朝、駅の前で会いましょう。",
    "この本はとても面白いので、もう三回読みました。",
    "도서관은 월요일에 문을 닫습니다.",
]
CODE = [
    "fn main() {\n    let v: Vec<u64> = (1..=10).map(|x| x * x).collect();\n    println!(\"{:?}\", v);\n}\n",
    "SELECT name, COUNT(*) FROM orders WHERE total > 100 GROUP BY name HAVING COUNT(*) > 3 ORDER BY 2 DESC;\n",
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        self.items.append(item)\n",
    "#include <stdio.h>\n\nint main(void) {\n\tputs(\"hello\");\n\treturn 0;\n}\n",
    "const f = async (url) => {\n  const r = await fetch(url);\n  if (!r.ok) throw new Error(`HTTP ${r.status}`);\n  return r.json();\n};\n",
    "for f in *.txt; do\n  sed -i 's/foo/bar/g' \"$f\" && echo \"$f done\"\ndone\n",
    "<table><tr><td>1</td><td>2</td></tr></table>\n<script>alert('x')</script>\n",
    "\\begin{equation}\n  \\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}\n\\end{equation}\n",
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n    - port: 80\n",
    "module Main where\n\nquicksort [] = []\nquicksort (p:xs) = quicksort [x | x <- xs, x < p] ++ [p] ++ quicksort [x | x <- xs, x >= p]\n",
]
SYMBOLS = "!?.,;:'\"()[]{}<>/\\|@#$%^&*-_=+~`€£¥§©®™°±×÷≈≠≤≥∞√∑∏∂∫←→↑↓♠♥♦♣★☆☀☂✓✗🎈🐍🚗🏔🌊"
QUESTIONS = [
    "What is the boiling point of water at sea level?",
    "Write a haiku about winter.",
    "Explain recursion to a ten-year-old.",
    "Translate 'good morning' into five languages.",
    "Who painted the ceiling of the Sistine Chapel?",
    "Give me a recipe for pancakes.",
    "What is 17 times 23?",
    "List three differences between cats and dogs.",
    "Why is the sky blue?",
    "Summarise the plot of a story about a lost ship.",
]


def text_of(generator, words):
    parts = []
    while sum(len(part.split()) for part in parts) < words:
        parts.append(generator.choice(SENTENCES))
    return " ".join(parts)


def main():
    vocabulary = int(sys.argv[1])
    specials = [int(number) for number in sys.argv[2:]]
    generator = random.Random(35)
    prompts = []
    prompts += SENTENCES
    prompts += CODE
    prompts += [first + second for first, second in zip(CODE, CODE[1:] + CODE[:1])]
    prompts += [sentence.upper() for sentence in SENTENCES[:10]]
    prompts += [sentence[: generator.randrange(1, 12)] for sentence in SENTENCES]
    for _ in range(20):
        prompts.append("".join(generator.choice(SYMBOLS) for _ in range(generator.randrange(1, 120))))
    for _ in range(20):
        symbol = generator.choice(SYMBOLS + "aZ09 \n\t")
        prompts.append(symbol * generator.randrange(1, 200))
    for _ in range(20):
        digits = generator.randrange(1, 150)
        prompts.append(" ".join(str(generator.randrange(10**6)) for _ in range(digits // 7 + 1)))
    for question in QUESTIONS:
        turn = "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n"
        prompts.append(turn)
        prompts.append("<|im_start|>system\nAnswer briefly.<|im_end|>\n" + turn)
        prompts.append(question)
    for _ in range(20):
        prompts.append(text_of(generator, generator.randrange(20, 200)))
    for number in range(30):
        length = generator.choice([1, 2, 3, 7, 20, 60, 150, 500])
        prompts.append([generator.randrange(vocabulary) for _ in range(length)])
    for number in range(20):
        prompts.append([generator.randrange(vocabulary)] * generator.choice([1, 2, 5, 30, 100, 500]))
    for special in specials:
        prompts.append([special])
        prompts.append([special] * generator.choice([3, 40, 200]))
    while len(prompts) < 300:
        ids = [generator.randrange(vocabulary) for _ in range(generator.randrange(1, 60))]
        for _ in range(3):
            ids.insert(generator.randrange(len(ids) + 1), generator.choice(specials))
        prompts.append(ids)
    for prompt in prompts[:300]:
        print(json.dumps(prompt, ensure_ascii=False))


main()
