"""How far the token estimate is from the exact count.

    python bench/tokens.py [NAME=GLOB ...]

Needs the extra `tokens`. Reads Python's own documentation and sources, the Chinese texts below, and
the files it is told; a .gz file is unpacked. Prints one line per set.
"""

# ruff: noqa: RUF001  Chinese has its own commas and brackets.

import glob
import gzip
import sys
import sysconfig
from pathlib import Path

from prowess.token_counts import counter, estimate

PIECE = 1500

CHINESE = {
    "simplified Chinese, prose": (
        "我外婆住在江边的一个小村子里，村口有一棵几百年的樟树。夏天的晚上，大人们搬出竹椅，在树下摇着"
        "扇子说话，孩子们追着萤火虫满地跑。后来修了大坝，水位涨上来，村子整个搬到了山坡上，那棵树也不"
        "知道还在不在。",
        "市交通局昨天表示，新的地铁线路将于年底开始试运行，全长二十八公里，设有十九座车站。线路开通之"
        "后，从机场到市中心只需要三十五分钟。票价方案正在征求意见，预计下个月公布。",
        "缓存不是越多越好。如果数据经常变化，而缓存没有及时更新，用户看到的就是旧的结果。比较稳妥的做"
        "法是给每一条缓存设置过期时间，并且在写入数据库之后主动删除对应的缓存。这样即使删除失败，错误"
        "也会在几分钟之内消失。",
        "做这道菜并不难，关键在于火候。先把豆腐切成小块，用盐水泡十分钟；锅里放油，把姜末和蒜末炒香，"
        "再放入豆瓣酱，炒出红油。加一碗高汤，放进豆腐，小火煮五分钟，最后勾芡，撒上花椒粉和葱花就可以"
        "出锅了。",
        "宋代的手工业相当发达，瓷器、丝绸和造纸都有很高的水平。城市里出现了夜市，商人可以用纸币进行交"
        "易。与此同时，印刷术的改进使书籍变得便宜，普通人家的子弟也有机会读书，参加科举考试。",
    ),
    "simplified Chinese, descriptions": (
        "创建一个新的任务，可以指定负责人、截止日期和优先级。",
        "获取网页的正文内容，去掉广告和导航，以 Markdown 格式返回。",
        "查询快递的物流信息，需要提供运单号。",
        "对一段评论进行情感分析，返回正面、负面或中性。",
        "在 GitHub 仓库中创建分支，默认从 main 分支开始。",
        "合并多个 PDF 文件，按照给定的顺序排列页面。",
        "预订会议室，如果时间冲突，则返回可用的时间段。",
        "下载指定网址的视频，并提取其中的音频，输出为 MP3 文件。",
        "执行 SQL 语句并返回结果，只允许 SELECT 查询。",
        "把人民币金额转换成大写，用于填写发票。",
        "监控服务器的内存和磁盘使用率，超过阈值时发出警告。",
        "列出某个城市附近的酒店，可以按评分和价格筛选。",
        "生成一个随机密码，长度默认为十六位，包含数字和符号。",
        "更新客户的联系方式，客户编号为必填参数。",
    ),
    "traditional Chinese, prose": (
        "小時候最期待的就是跟爺爺去市場。他會牽著我的手，穿過賣魚和賣菜的攤位，最後停在一家賣豆花的小"
        "店前面。老闆娘總是多給我一匙花生，還說我長得跟爸爸小時候一模一樣。如今市場改建成了大樓，豆花"
        "的味道卻一直留在記憶裡。",
        "氣象局表示，受到鋒面影響，明天北部及東北部地區有短暫陣雨，中南部則是多雲到晴的天氣。各地早晚"
        "偏涼，民眾出門記得攜帶外套。週末鋒面遠離之後，氣溫將逐漸回升，白天高溫可達二十八度。",
        "設計介面的時候，最容易忽略的是錯誤訊息。許多程式只告訴使用者「發生錯誤」，卻沒有說明原因，也"
        "沒有提供解決的方法。好的錯誤訊息應該說明發生了什麼事、為什麼會發生，以及接下來可以怎麼做。",
        "島上的居民大多以捕魚維生。每年春天，他們會把漁船拖上岸，重新塗上油漆，並在船頭綁上紅布，祈求"
        "一整年的平安與豐收。觀光客愈來愈多以後，有些年輕人選擇回到家鄉經營民宿，也帶動了當地的手工藝"
        "。",
    ),
    "traditional Chinese, descriptions": (
        "查詢圖書館的館藏，可以輸入書名、作者或是 ISBN。",
        "將檔案上傳到雲端硬碟，並且產生分享連結。",
        "建立一張新的發票，需要統一編號與商品明細。",
        "翻譯一段文字，支援繁體中文、日文與韓文。",
        "取得最近七天的網站流量，依照來源分組。",
        "在地圖上搜尋附近的餐廳，並依照評價排序。",
        "重新啟動指定的伺服器，執行之前會先要求確認。",
        "把 CSV 檔案匯入資料庫，重複的資料會被略過。",
        "設定一個提醒，時間到了會傳送通知到手機。",
        "讀取感測器的溫度與濕度，每五分鐘更新一次。",
    ),
}
"""Written for this measurement; the costs were fitted on other texts."""


def texts(pattern: str) -> list[str]:
    pieces = []
    for name in sorted(glob.glob(pattern, recursive=True))[:400]:
        raw = Path(name).read_bytes()
        text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8", "ignore")
        pieces += [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    return [piece for piece in pieces if piece.strip()][:1500]


def main() -> None:
    exact = counter()
    if exact.name != "o200k":
        sys.exit('the exact counter is missing; run: pip install "prowess[tokens]"')
    library = sysconfig.get_path("stdlib")
    files = {"code": f"{library}/*.py", "prose": f"{library}/pydoc_data/topics.py"}
    files |= dict(argument.split("=", 1) for argument in sys.argv[1:])
    for name, pieces in [*((name, texts(pattern)) for name, pattern in files.items()), *CHINESE.items()]:
        pairs = [(estimate(text), exact.count(text)) for text in pieces]
        total = sum(e for e, _ in pairs) / sum(c for _, c in pairs) - 1
        error = sum(abs(e - c) / c for e, c in pairs) / len(pairs)
        print(f"{name:34} {len(pairs):5} texts  total {total:+.1%}  mean error {error:.1%}")


if __name__ == "__main__":
    main()
