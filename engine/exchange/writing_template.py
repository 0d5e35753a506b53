"""The parts of a script that writes on with a language model; see `netwright.engine.exchange.writing_script`."""

ONNX = '''

session = onnxruntime.InferenceSession(str(FILE), providers=["CPUExecutionProvider"])
(entry,) = session.get_inputs()
DTYPE = np.float16 if entry.type == "tensor(float16)" else np.float32
BATCH = entry.shape[0] if isinstance(entry.shape[0], int) else 1


def outputs(tokens):
    """Return what the network gives for the steps of one sequence, a row for each step."""
    return session.run(None, {entry.name: np.array([tokens] * BATCH, DTYPE)})[0][0]
'''
PYTORCH = '''

network = runpy.run_path(str(FILE))["load"]()


def outputs(tokens):
    """Return what the network gives for the steps of one sequence, a row for each step."""
    with torch.no_grad():
        return network(torch.tensor([tokens]))[0]
'''
NETWORKS = {"onnx": ONNX, "pytorch": PYTORCH}
END_OF_TEXT = '''

def end_of(before, added, stops):
    """Return how many characters of the added text stand before the first stop; -1 where none has come."""
    written = text_of(before + added)[len(text_of(before)) :]
    return min((place for stop in stops if (place := written.find(stop)) >= 0), default=-1)
'''
BYTES = (
    '''

def tokens_of(text):
    """Return the bytes of a text."""
    return list(text.encode("utf-8", "surrogatepass"))[:MOST]


def text_of(tokens):
    """Return the text that bytes spell."""
    return bytes(tokens).decode("utf-8", "replace")
'''
    + END_OF_TEXT
)
WORDS = (
    '''

PLACES = {word: place for place, word in enumerate(WORDS, 1)}


def tokens_of(text):
    """Return the words of a text by their numbers; 0 for those that are not known."""
    return [PLACES.get(word, 0) for word in WORD.findall(text.lower() if IS_LOWER_CASE else text)][:MOST]


def text_of(tokens):
    """Return the text of words, joined as prose is."""
    text, before = "", "\\n"
    for token in tokens:
        name = WORDS[token - 1] if token else OTHER
        is_wide = WIDE.match(name) or WIDE.match(before)
        has_space = not is_wide and "\\n" not in (before, name) and name not in CLOSING and before not in OPENING
        text, before = f"{text} {name}" if has_space else text + name, name
    return text
'''
    + END_OF_TEXT
)
PIECES = (
    '''

tokenizer = Tokenizer.from_str(TOKENIZER)
tokenizer.no_truncation()
tokenizer.no_padding()


def tokens_of(text):
    """Return the pieces of the beginning of a text, without those that end a whole one."""
    encoding = tokenizer.encode(text)
    count = len(encoding.ids)
    while count and encoding.special_tokens_mask[count - 1]:
        count -= 1
    return encoding.ids[:count][:MOST]


def text_of(tokens):
    """Return the text of pieces."""
    return tokenizer.decode(tokens, skip_special_tokens=True)
'''
    + END_OF_TEXT
)
INDICES = '''

def tokens_of(text):
    """Return the whole numbers that stand in a text."""
    words = text.split()
    strange = next((word for word in words if not word.isdecimal() or int(word) >= COUNT), None)
    if strange is not None:
        raise ValueError(f"Expected whole numbers from 0 to {COUNT - 1}, received {strange!r}.")
    return [int(word) for word in words]


def text_of(tokens):
    """Return the numbers, each with a space before."""
    return "".join(f" {token}" for token in tokens)


def end_of(before, added, stops):
    """Return how many characters of the added text stand before the first stop; -1 where none has come."""
    ends = {token for stop in stops for token in tokens_of(stop)}
    place = next((place for place, token in enumerate(added) if token in ends), -1)
    return len(text_of(added[:place])) if place >= 0 else -1
'''
VOCABULARIES = {"byte": BYTES, "word": WORDS, "piece": PIECES, "index": INDICES}
DECODING = '''

def scores_of(tokens):
    """Return the score of each token as the next one. Of more steps than WINDOW the older half is dropped."""
    dropped = max(1, WINDOW // 2)
    tokens = tokens[dropped * max(0, -((WINDOW - len(tokens)) // dropped)) :]
    padding = [0] * (STEPS - len(tokens)) if STEPS else []
    scores = outputs(tokens + padding)[len(tokens) - 1].tolist()
    if not IS_LOGITS:
        scores = [math.log(max(share, 1e-30)) for share in scores]
    for token in BARRED:
        scores[token] = -math.inf
    return scores


def drawn(scores, temperature, top_k, top_p, chance):
    """Return a token: the likeliest one at temperature 0, else one by chance among the top_k likeliest (0: all), and of
    these among as few as have the probability top_p together."""
    if temperature == 0:
        return max(range(len(scores)), key=scores.__getitem__)
    order = sorted(range(len(scores)), key=lambda token: -scores[token])[: top_k or None]
    shares = [math.exp((scores[token] - scores[order[0]]) / temperature) for token in order]
    least, total, count = top_p * sum(shares), 0.0, 0
    while count < len(shares) and total < least:
        total += shares[count]
        count += 1
    return chance.choices(order[:count], shares[:count])[0]


def sure_of(text, stops):
    """Return how many characters cannot change any more, and begin no stop."""
    whole = text.rstrip("\\ufffd")
    return len(whole) - max((n for stop in stops for n in range(1, len(stop)) if whole.endswith(stop[:n])), default=0)


def generate(prompt, length=100, temperature=1.0, top_k=0, top_p=1.0, stops=(), seed=None):
    """Yield the text that follows a prompt, piece by piece: at most `length` tokens, up to the first of the stops."""
    chance, before, added, shown = random.Random(seed), tokens_of(prompt), [], 0
    if not before:
        raise ValueError("The prompt has no tokens.")
    for _ in range(length):
        added.append(drawn(scores_of(before + added), temperature, top_k, top_p, chance))
        end = end_of(before, added, stops)
        text = text_of(before + added)[len(text_of(before)) :]
        sure = end if end >= 0 else len(text) if len(added) == length else sure_of(text, stops)
        yield text[shown:sure]
        shown = max(shown, sure)
        if end >= 0:
            return
'''
MAIN = (
    '''

def main():
    """Print the prompt and what follows it."""

    def broken(text):
        return text.replace("\\\\n", "\\n").replace("\\\\t", "\\t")

    parser = argparse.ArgumentParser(description="Write on with a language model.")
    parser.add_argument("prompt", type=broken, help="beginning of the text")
    parser.add_argument("--length", type=int, default=100, help="tokens that are written at most (default: 100)")
    parser.add_argument("--temperature", type=float, default=1.0, help="divisor of the scores, 0: always the likeliest")
    parser.add_argument("--top-k", type=int, default=0, help="draw among so many likeliest tokens (default: all)")
    parser.add_argument("--top-p", type=float, default=1.0, help="draw among as few as have this probability together")
    parser.add_argument("--stop", type=broken, action="append", default=[], help="text that ends it; may be repeated")
    parser.add_argument("--seed", type=int, help="number that the draws follow from (default: by chance)")
    asked = parser.parse_args()
    if not (0 <= asked.temperature < math.inf and 0 < asked.top_p <= 1 and asked.top_k >= 0 and asked.length >= 1):
        parser.error("expected a temperature from 0 on, top-p above 0 up to 1, top-k from 0 on, a length from 1 on")
    sys.stdout.reconfigure(encoding="utf-8", newline="\\n")
    way = (asked.length, asked.temperature, asked.top_k, asked.top_p, asked.stop, asked.seed)
    try:
        print(asked.prompt, end="", flush=True)
        for piece in generate(asked.prompt, *way):
            print(piece, end="", flush=True)
        print()
    except ValueError as error:
        parser.error(str(error))
'''
    + '\n\nif __name__ == "__main__":\n    main()\n'
)
