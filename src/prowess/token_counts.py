"""How many tokens a text costs.

Two counters, and every offer names the one it used: `o200k` is exact, where the extra `tokens` is
installed; `estimate` follows how that tokenizer cuts text and needs nothing. On held-out texts the
estimate's total is within 2% for English, code, JSON schemas, Japanese and Korean, within 4% for Chinese
(simplified and traditional, prose and short descriptions) and within 7% for Russian; a single text is off
by 3 to 8% on average (`bench/tokens.py`).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

REMEMBERED = 4096
"""Texts whose count is kept: the lines of a catalogue come again turn after turn."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A way to count, under the name that an offer carries."""

    name: str
    count: Callable[[str], int]


# What each match costs, fitted on one half of the texts and measured on the other.
ASCII_COSTS = (
    (re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), 0.99),
    (re.compile(r"[A-Z]{2,}"), 0.38),
    (re.compile(r"[a-z]{9,}"), 0.27),
    (re.compile(r"[a-z]{13,}"), 0.25),
    (re.compile(r"[A-Za-z]{20}"), 8.0),
    (re.compile(r"[0-9]{1,3}"), 1.96),
    (re.compile(r"[!-/:-@\[-^`{-~]+"), 0.97),
    (re.compile(r"[!-/:-@\[-^`{-~]{3,}"), 0.42),
    (re.compile(r"_+"), 0.12),
    (re.compile(r"[ \t]{2,}"), 0.35),
    (re.compile(r"\n\s*"), 0.71),
)
OTHER_COSTS = (
    (re.compile(r"[\u3040-\u30ff]"), 0.61),
    (re.compile(r"[\uac00-\ud7af]"), 0.75),
    (re.compile(r"[^\W\d_A-Za-z\u3040-\u9fff\uac00-\ud7af]"), 0.28),
    (re.compile(r"[\u3000-\u303f\uff00-\uffef\u2018-\u201d\u2026]+"), 0.33),
    (re.compile(r"[^\x00-\x7f\w\s\u3000-\u303f\uff00-\uffef\u2018-\u201d\u2026]"), 3.26),
)
IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]+")
WORD, COMMON, UNCOMMON = 1.04, 1.01, 1.35
"""What a word of two ideographs costs, and one ideograph that is in no such word."""
BEYOND_COMMON = 0xD8
"""Where GB 2312 goes on from the common simplified ideographs to the others."""

_WORDS = """
    一个 一次 一步 一直 一级 一般 万元 三个 上传 上午 上海 上的 下一 下午 下載 下载 下降 下面 不了 不会 不到
    不可 不同 不得 不是 不能 不要 不过 专业 专家 专题 世界 业务 东方 两个 个人 个月 中华 中国 中國 中心 中文
    中的 为了 为空 主义 主任 主要 主页 主题 之前 之后 之间 乱码 了一 了解 事件 二维 交换 交易 交流 交通 产业
    产品 人员 人工 人民 人的 亿元 什么 今天 今年 今日 介紹 介绍 他们 他的 付款 代码 代表 以上 以下 以及 以来
    价格 任何 任务 企业 企業 优惠 会员 会议 但是 位置 体现 体育 体验 作为 作品 作用 作者 使用 來源 例如 保存
    保护 保险 保障 信息 修改 值得 健康 價格 優惠 允许 元素 先生 免費 免费 入口 內容 全国 全年 全文 全球 全部
    全面 公众 公司 公告 公布 公开 公式 公里 公開 关于 关注 关系 关键 关闭 其中 其他 具体 内容 内部 几个 出来
    出版 出现 函数 分享 分析 分类 分鐘 分钟 分類 列表 创建 创新 删除 利润 利用 到了 制度 办公 功能 加入 加强
    加载 动态 动漫 助手 包含 包括 北京 医生 医疗 医院 十二 半年 单位 历史 原因 去年 参与 参加 参数 参考 发展
    发布 发现 发生 发表 发送 取得 取消 受到 变量 另一 另外 只有 可以 可能 可靠 台湾 号码 合作 合法 同时 同期
    同比 名称 名稱 后来 周年 咨询 品牌 哪个 哪些 哪里 商品 問題 喜欢 回复 回答 因为 因此 团队 国产 国内 国家
    国际 图片 圖片 在哪 在线 地产 地区 地址 地方 地点 坚持 城市 培训 基地 基本 基础 增加 增长 声明 处理 备用
    复杂 多个 多久 多少 大学 大家 大小 天下 太阳 失败 女性 好的 如下 如何 如果 姓名 委员 媒体 字幕 字段 字符
    存在 季度 学习 学校 学生 学院 孩子 學生 安全 安卓 安装 完成 完整 官方 定义 定位 实施 实现 客户 宣传 宣布
    家庭 密码 对象 导航 小时 小说 就是 属于 属性 工作 工具 工程 左右 已经 市场 市場 希望 帮助 平台 平均 平方
    年度 年来 年的 年轻 广告 应用 应该 建立 建设 开发 开始 开展 开放 异常 引用 当前 当然 形式 影响 影片 很多
    微信 微博 必须 快乐 怎么 怎样 思想 您的 情况 意思 意见 成为 成功 成立 我们 我們 我的 我要 或者 截至 所以
    所有 手机 手機 才能 打印 打开 执行 找到 技巧 技术 投资 报告 报道 招聘 指出 指定 授权 排列 排序 排行 接受
    接口 控制 推广 推荐 推薦 推进 描述 提交 提供 提出 提示 提高 搜尋 搜索 摘要 播放 操作 支付 支持 收入 收藏
    改革 攻略 政府 政治 政策 故事 教師 教育 数字 数据 数组 数量 文件 文化 文字 文本 文章 新华 新增 新的 新聞
    新闻 方式 方案 方法 方面 旅游 无法 日期 日本 早点 时代 时候 时间 昨天 是否 显示 時間 普通 智能 更多 更新
    最后 最多 最大 最新 最近 最长 最高 會員 有人 有所 有效 有限 朋友 服务 服務 期間 期间 期限 未来 未知 机关
    机构 权限 材料 条件 来源 来的 来自 来说 查看 查询 标准 标签 标题 根据 格式 检查 模块 模式 次数 欢迎 正在
    正文 正确 此外 每天 比如 比赛 比較 汽车 沒有 没有 法律 注册 注意 活动 活動 测试 浏览 海外 消息 消费 添加
    游戏 游戲 漏洞 澳门 点击 然而 照片 版本 版权 特别 特色 状态 环境 现在 现场 现金 現在 理论 生产 生命 生成
    生活 產品 用于 用品 用户 由于 申请 电子 电影 电脑 电视 电话 留言 登入 登录 發布 百分 百科 的一 的人 的是
    目前 目录 目标 直接 相关 相關 真实 知识 知道 研发 研究 确定 確認 社会 社区 禁止 科学 科技 程序 程度 稳定
    竞争 章节 符合 第一 第三 第二 简介 管理 篮球 类似 类型 精品 精神 系列 系统 結果 網站 线上 线路 组织 经典
    经济 经营 经验 绑定 结束 结构 结果 统一 统计 继续 维护 综合 编号 编码 编辑 网上 网址 网站 网络 网页 美元
    美国 老师 老板 聊天 联盟 联系 联网 股票 能力 能源 自动 自己 英文 苹果 范围 获取 获得 行业 行为 行动 表示
    表达 要求 覆盖 觀看 观看 规划 规则 规定 规律 视频 解决 解析 設備 設定 評論 计划 计算 订单 认为 认证 记录
    记者 论坛 设备 设置 设计 访问 评论 详情 详细 语言 说明 请求 读取 调查 调用 資料 資格 資訊 负责 责任 账号
    账户 质量 购买 费用 资料 资源 资讯 资金 起来 超过 足球 路径 路线 身份 转换 软件 输入 输出 过去 过滤 过程
    运营 运行 返回 还是 还有 这个 这些 这样 这种 这里 进入 进行 违法 连接 退款 选择 通常 通知 通过 邀请 那么
    邮箱 部分 部署 部门 都是 都有 配置 酒店 里的 里面 重复 重新 重点 重要 金融 金额 銀行 银行 链接 销售 销量
    错误 開始 閱讀 问题 阅读 限制 集合 集团 電子 電影 電話 需要 非常 面的 韩国 页面 项目 预测 预计 领域 领导
    频道 风险 食品 首頁 首页 香港 验证 默认
"""
WORDS = frozenset(_WORDS.split())
"""Words that are one token, of those that are frequent in programs and in ordinary texts."""


def estimate(text: str) -> int:
    """Count without a vocabulary; never 0 for a text that has anything in it."""
    ascii_only = text.isascii()
    costs = ASCII_COSTS if ascii_only else ASCII_COSTS + OTHER_COSTS
    total = sum(cost * len(pattern.findall(text)) for pattern, cost in costs)
    if not ascii_only:
        total += sum(_ideographs(run) for run in IDEOGRAPHS.findall(text))
    return max(math.ceil(total), 1 if text else 0)


def _ideographs(run: str) -> float:
    """Frequent words are one token; a traditional or rare ideograph often takes two."""
    alone: list[str] = []
    at = 0
    while at < len(run):
        if run[at : at + 2] in WORDS:
            at += 2
        else:
            alone.append(run[at])
            at += 1
    words = (len(run) - len(alone)) // 2
    lead_bytes = "".join(alone).encode("gb2312", "ignore")[::2]
    common = sum(byte < BEYOND_COMMON for byte in lead_bytes)
    return WORD * words + COMMON * common + UNCOMMON * (len(alone) - common)


def counter(exact: bool = True) -> Counter:
    """The exact counter where it is installed, else the estimate."""
    if exact and find_spec("rs_bpe"):
        return Counter("o200k", lru_cache(REMEMBERED)(_o200k()))
    return Counter("estimate", lru_cache(REMEMBERED)(estimate))


def _o200k() -> Callable[[str], int]:
    """Count exactly; the vocabulary costs 50 MB and is read when the first text is counted."""

    @cache
    def encoding() -> Any:
        from rs_bpe.bpe import openai  # an extra, with its vocabulary inside

        return openai.o200k_base()

    return lambda text: int(encoding().count(text))
