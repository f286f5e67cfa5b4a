import Bodega
import Foundation
import HummingbirdCore

/// What a page of the archive shows: the values of its search form, which are also those of its address.
struct ArchiveSearch: Sendable, Hashable {
    /// Words of the titles, of which the last one may be the beginning of a word; empty for all titles.
    var title = ""
    /// The colour, `nil` for all colours.
    var colour: ArchivePicture.Colour?
    var order = Order.title
    /// The maximum number of pictures on the page.
    var shown = Self.pageSize

    /// The order of the pictures.
    enum Order: String, CaseIterable, Sendable {
        case title, newest, liked
    }

    /// The number of pictures that a page begins with, and the number that each request for more adds.
    static let pageSize = 24
    /// The maximum number of pictures on a page.
    static let limit = 40 * pageSize
    /// The maximum size of the words, in bytes.
    static let titleLimit = 200
}

extension ArchiveSearch {

    /// Parses the parameters of an address. Values that are missing or invalid are those of an empty form, because
    /// users edit addresses.
    init(_ uri: URI) {
        // Forms write a space as a plus sign.
        let uri = URI("\(uri.path)?\((uri.query ?? "").replacingOccurrences(of: "+", with: "%20"))")
        func value(_ name: String) -> String { uri.queryParameters[Substring(name)].map(String.init) ?? "" }
        let text = value("title").trimmingCharacters(in: .whitespacesAndNewlines)
        title = text.utf8.count <= Self.titleLimit ? text : ""
        colour = ArchivePicture.Colour(rawValue: value("colour"))
        order = Order(rawValue: value("order")) ?? .title
        shown = min(max(Int(value("shown")) ?? 0, Self.pageSize), Self.limit)
    }

    /// The address of the page.
    var path: String {
        var components = URLComponents()
        components.queryItems = [
            URLQueryItem(name: "title", value: title), URLQueryItem(name: "colour", value: colour?.rawValue ?? ""),
            URLQueryItem(name: "order", value: order.rawValue), URLQueryItem(name: "shown", value: "\(shown)"),
        ]
        // A plus sign would be read as a space.
        return "/archive?\((components.percentEncodedQuery ?? "").replacingOccurrences(of: "+", with: "%2B"))"
    }

    /// The query for the pictures.
    var query: Query<ArchivePicture> {
        let descriptor: SortDescriptor<ArchivePicture> =
            switch order {
            case .title: SortDescriptor(\.sortTitle)
            case .newest: SortDescriptor(\.paintedAt, order: .reverse)
            case .liked: SortDescriptor(\.likes, order: .reverse)
            }
        var query = Query(sortedBy: descriptor)
        if let colour { query = Query(where: #Predicate { $0.colour == colour }, sortedBy: descriptor) }
        return title.isEmpty ? query : query.searching(expression)
    }

    /// What the titles are searched for.
    var expression: SearchExpression { SearchExpression(title, completingLastWord: true) }
}
