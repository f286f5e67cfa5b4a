import Bodega
import Foundation

/// A picture of the archive in the form that templates use, with a sketch that its seed determines.
struct ArchiveCard: Sendable {
    let id: String
    let title: String
    /// The title, divided where a search has found something.
    let titleParts: [Part]
    let description: String
    let year: Int
    let likes: Int
    let paper: String
    let ground: String
    let sunX: Int
    let sunY: Int
    let sunRadius: Int
    let sun: String
    let hills: [Hill]

    /// A part of the title.
    struct Part: Sendable {
        let text: String
        let isFound: Bool
    }

    /// A part of the sketch.
    struct Hill: Sendable {
        let path: String
        let color: String
    }

    /// Creates a card.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - expression: The search that has found it.
    init(_ picture: ArchivePicture, foundBy expression: SearchExpression) {
        id = picture.id
        title = picture.title
        titleParts = Self.parts(of: title, foundBy: expression)
        likes = picture.likes
        year = Calendar.utc.component(.year, from: picture.paintedAt)
        description =
            """
            \(picture.colour.rawValue), \(picture.tags.joined(separator: ", ")), \
            \(picture.width)\u{A0}×\u{A0}\(picture.height)
            """
        var choices = Choices(state: UInt64(picture.seed))
        let inks = picture.colour.inks
        (paper, ground, sun) = (inks[0], inks[1], choices.pick(["#ffd166", "#fff3d6", "#f4845f"]))
        (sunX, sunY, sunRadius) = (
            20 + choices.number(below: 120), 18 + choices.number(below: 40), 6 + choices.number(below: 14)
        )
        var hills: [Hill] = []
        for (layer, ink) in inks[1...].enumerated() {
            let top = 50 + 17 * layer
            let heights = (0..<4).map { _ in top + choices.number(below: 34) - 17 }
            let path =
                """
                M0 \(heights[0])C40 \(heights[1]) 60 \(heights[2]) 80 \(heights[1])S130 \(heights[3]) 160 \
                \(heights[2])V120H0Z
                """
            hills.append(Hill(path: path, color: ink))
        }
        self.hills = hills
    }

    private static func parts(of title: String, foundBy expression: SearchExpression) -> [Part] {
        var parts: [Part] = []
        var end = title.startIndex
        for range in expression.highlights(in: title) {
            parts.append(Part(text: String(title[end..<range.lowerBound]), isFound: false))
            parts.append(Part(text: String(title[range]), isFound: true))
            end = range.upperBound
        }
        return parts + [Part(text: String(title[end...]), isFound: false)]
    }
}

extension Calendar {
    /// The calendar of the pictures' years.
    fileprivate static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

extension ArchivePicture.Colour {
    /// The colours of a sketch: the paper, and the inks from light to dark.
    fileprivate var inks: [String] {
        switch self {
        case .red: ["#fbe9e4", "#e59a8a", "#c8503f", "#6f1d1b"]
        case .orange: ["#fff1e0", "#f4b26a", "#e07a1f", "#7a3b0c"]
        case .yellow: ["#fffbe3", "#f2d55c", "#d4a514", "#6b5208"]
        case .green: ["#eff6e6", "#a7c77d", "#5b8c4a", "#24472b"]
        case .teal: ["#e5f4f2", "#86c5bd", "#2f8f88", "#114746"]
        case .blue: ["#e8f1fa", "#8db8e2", "#3a76b8", "#173a66"]
        case .violet: ["#f3ecf8", "#bd9fd6", "#7d55a6", "#3d2259"]
        case .grey: ["#f2f1ef", "#b9b5af", "#7d7973", "#3a3835"]
        }
    }
}
