import BodegaTesting
import Foundation

/// Text in several scripts with quotation marks, line breaks and emoji, like a message in a chat; about 500 bytes of
/// JSON.
package struct Intl: Shape {
    package static let name = "intl"

    var id: UUID
    var author: String
    var text: String
    var language: String
    var sent: Date
    var edited: Date?
    var reactions: [String]
    var replies: Int

    package init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        id = random.uuid()
        let (language, name, sentences) = languages[Int(random.next() % UInt64(languages.count))]
        self.language = language
        author = name
        text = (0..<random.next() % 3 + 2)
            .map { _ in sentences[Int(random.next() % UInt64(sentences.count))] }
            .joined(separator: random.next() % 2 == 0 ? " " : "\n")
        // A date near now in full precision.
        sent = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(random.next() >> 11) / 0x1p53 * 100_000_000)
        edited = random.next() % 4 == 0 ? sent.addingTimeInterval(Double(random.next() % 10_000) / 7) : nil
        reactions = (0..<random.next() % 4).map { _ in ["👍", "❤️", "😂", "🎉", "👩‍💻"][Int(random.next() % 5)] }
        replies = Int(random.next() % 30)
    }

    package func copied() -> Intl {
        var copy = self
        copy.author = author.copied()
        copy.text = text.copied()
        copy.reactions = reactions.copied()
        return copy
    }
}

/// A language, a name and sentences in the language.
private let languages: [(String, String, [String])] = [
    (
        "de", "Jürgen Müßig",
        ["Schöne Grüße aus Köln!", "Er sagte: \"Das wäre großartig.\"", "Übermorgen früh um acht?", "Tschüß 😊"]
    ),
    (
        "fr", "Zoé Lefèvre",
        ["Ça marche, à bientôt !", "C'était « très » bien préparé.", "Où est le dossier \"Été\\2024\" ?", "Déjà vu… 🤔"]
    ),
    (
        "ru", "Екатерина Петрова",
        ["Спасибо большое за помощь.", "Встречаемся завтра в \"Пушкине\".", "Не забудь взять билеты!", "Хорошо 👍"]
    ),
    ("ja", "山田 太郎", ["明日の会議は午後三時からです。", "資料は\"共有\"に置きました。", "ありがとうございます!", "了解🙇"]),
    ("ar", "ليلى حداد", ["شكرا جزيلا على المساعدة.", "نلتقي غدا إن شاء الله.", "قال: \"كل شيء جاهز\"."]),
    ("hi", "अनीता शर्मा", ["कल सुबह मिलते हैं।", "उसने कहा \"सब ठीक है\"।", "बहुत धन्यवाद 🙏"]),
    (
        "en", "Siobhán O'Brien",
        ["See you at the café.", "She said \"fine by me\" and left.", "Path is C:\\temp\\new", "Done 🎉"]
    ),
]
