import Bodega
import Foundation

/// The page of the archive.
struct ArchivePage: Page {
    let template = "archive"
    let chrome: Chrome
    let title: String
    let titleLimit = ArchiveSearch.titleLimit
    let colours: [Chrome.Choice]
    let orders: [Chrome.Choice]
    let summary: ArchiveSummary
    let cards: [ArchiveCard]
}

extension ArchivePage {
    /// Reads the values from the controllers.
    @MainActor
    init(
        _ search: ArchiveSearch, _ pictures: [ArchivePicture], _ summary: ArchiveSummary,
        _ controllers: GalleryControllers,
        apiIsOn: Bool
    ) {
        chrome = Chrome(title: "Archive · Emporium Gallery", controllers, apiIsOn: apiIsOn)
        title = search.title
        let any = Chrome.Choice(value: "", label: "Any colour", isChosen: search.colour == nil)
        colours =
            [any]
            + ArchivePicture.Colour.allCases.map { colour in
                Chrome.Choice(
                    value: colour.rawValue, label: colour.rawValue.capitalized, isChosen: colour == search.colour)
            }
        orders = ArchiveSearch.Order.allCases.map { order in
            Chrome.Choice(value: order.rawValue, label: order.label, isChosen: order == search.order)
        }
        self.summary = summary
        cards = pictures.map { ArchiveCard($0, foundBy: search.expression) }
    }
}

extension ArchiveSearch.Order {
    /// The label of the option.
    fileprivate var label: String {
        switch self {
        case .title: "Title"
        case .newest: "Newest"
        case .liked: "Most liked"
        }
    }
}

/// The part of the page below its form: how many pictures match, or why none are shown.
struct ArchiveSummary: Sendable {
    /// The number of matches, for people; `nil` if it is unknown.
    var count: String?
    var isOne = false
    var isEmpty = false
    /// The address of the page with more pictures, `nil` if there are no more.
    var more: String?
    var filling: Filling?
    var failure: String?

    /// The number of pictures that have been created, and that will be.
    struct Filling: Sendable {
        let written: Int
        let size: Int
        let text: String
    }
}

extension ArchiveSummary {

    /// Creates the summary of an archive that is not filled.
    @MainActor
    init(filling archive: ArchiveController) {
        if case .failed(let message) = archive.state { failure = message }
        let text = "Creating \(archive.size.grouped) pictures… \(archive.written.grouped)"
        if failure == nil { filling = Filling(written: archive.written, size: archive.size, text: text) }
    }

    /// Creates the summary of a search.
    ///
    /// - Parameters:
    ///   - search: The search.
    ///   - count: The number of matches.
    ///   - shown: The number of pictures on the page.
    init(_ search: ArchiveSearch, count: Int, shown: Int) {
        self.count = count.grouped
        isOne = count == 1
        isEmpty = count == 0
        if count > shown, shown < ArchiveSearch.limit {
            var next = search
            next.shown = min(max(shown, search.shown) + ArchiveSearch.pageSize, ArchiveSearch.limit)
            more = next.path
        }
    }
}

extension Int {
    /// The number with separators, such as 100,000.
    fileprivate var grouped: String { formatted(.number.locale(Locale(identifier: "en_GB"))) }
}
