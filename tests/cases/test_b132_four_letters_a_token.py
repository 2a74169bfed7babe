"""B132: four letters a token undercounts Chinese, Japanese and Korean two to four times.

Right: the estimate is never below a real tokenizer on a multilingual set, so the caps hold with the
real one.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from toolkeeper import tool
from toolkeeper_planner.tokens import estimate

SAMPLES = Path(__file__).parents[1] / "planner" / "data" / "multilingual-tools.json"
WORDS = (
    "この道具は顧客の請求書を作成し、指定された住所へ電子メールで送信します。"
    "期限を過ぎた請求書があれば担当者に知らせ、必要なら督促状も作成します。"
)


def made(number: int, text: str) -> Any:
    def work(to: str = "", text: str = "") -> str:
        return "済み"

    work.__doc__ = text * 8
    return tool(work, name=f"desk.tool{number:02}", side_effect="workspace_read")


def real(text: str) -> int:
    encodings = pytest.importorskip("bpe_openai", reason="the real tokenizer is not installed")
    return len(encodings.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("provider", ["generic", "openai", "anthropic", "gemini"])
def test_thirty_japanese_tools_keep_to_the_caps_by_the_real_count(shop: Any, provider: str) -> None:
    async def act(turn: Any, keeper: Any) -> Any:
        return turn.plan, turn.tools, turn.system

    more = tuple(made(number, WORDS) for number in range(30))
    plan, tools, system = shop.turn(act, more=more, provider=provider)
    # By four letters a token they would all fit.
    assert sum(len(each.definition.description) for each in more) / 4 < 9_000
    assert 10 < len(plan.defined) < 30
    assert plan.deferred
    written = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
    assert real(written) <= plan.costs.definition_tokens <= 9_000
    assert real(system) <= plan.costs.index_tokens + plan.costs.index_overhead_tokens <= 2_000


def test_no_script_of_the_multilingual_set_is_undercounted() -> None:
    for group in json.loads(SAMPLES.read_text("utf-8"))["groups"]:
        for kind in ("definition", "line"):
            true = sum(each["tokens"][kind] for each in group["tools"])
            texts = [each["description"] for each in group["tools"]]
            assert true > 0
            assert all(estimate(text) >= len(text) / 8 for text in texts)


@pytest.mark.parametrize(
    "text",
    [
        WORDS,
        "创建客户的发票并发送到指定的邮箱地址。",
        "고객의 청구서를 만들어 지정된 주소로 보냅니다.",
        "สร้างใบแจ้งหนี้ของลูกค้าและส่งไปยังที่อยู่ที่กำหนด",
        "Создаёт счёт клиента.",
        "ينشئ فاتورة العميل ويرسلها إلى العنوان المحدد.",
        "ग्राहक का चालान बनाकर दिए गए पते पर भेजता है।",
        "🎉🎊🥳 celebrates with emoji 👩‍👩‍👧",
    ],
)
def test_a_text_in_any_script_costs_about_what_it_costs(text: str) -> None:
    assert real(text) * 0.9 <= estimate(text) <= max(real(text) * 1.5, real(text) + 12)
