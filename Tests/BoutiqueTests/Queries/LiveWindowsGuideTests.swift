// The snippet of the guide about live windows. A test compares it with the guide, line by line.
import Boutique
import Foundation
import Testing

struct Picture: Codable, Sendable {
    var title: String
    var year: Int
}

extension Picture: Queryable {
    static let indexes = [Index("title", \Picture.title), Index("year", \Picture.year)]
}

@MainActor
final class Gallery {
    let window: LiveQuery<Picture>

    init(_ pictures: ObjectStorage<Picture>) {
        window = LiveQuery(Query(sortedBy: SortDescriptor(\.year, order: .reverse)), in: pictures, limit: 50)
    }

    func search(_ text: String) async throws {
        let matches = Query<Picture>(
            where: #Predicate { $0.title.starts(with: text) }, sortedBy: SortDescriptor(\.title))
        try await window.change(to: matches)
    }

    func showMore() async throws {
        if window.hasMore { try await window.loadMore() }
    }
}

extension Picture {
    var decade: Int { year / 10 * 10 }
}

@MainActor
func printDecades(of pictures: ObjectStorage<Picture>) async throws {
    let window = SectionedLiveQuery(
        Query(sortedBy: SortDescriptor(\.year)), in: pictures, limit: 50, sectionedBy: \.decade)
    try await window.itemsHaveLoaded()
    for section in window.sections {
        print(section.value, section.items.map(\.title))
    }
}

@MainActor
func years(of pictures: ObjectStorage<Picture>) -> LiveValues<Int, Picture> {
    LiveValues(of: \.year, in: pictures)
}

@MainActor
@Test func `The gallery of the guide searches and shows more`() async throws {
    let pictures = ObjectStorage<Picture>(storage: MemoryStorageEngine())
    for number in 0..<120 {
        let picture = Picture(title: number % 2 == 0 ? "Sea \(number)" : "Hill \(number)", year: 1900 + number)
        try await pictures.store(picture, forKey: CacheKey("\(number)"))
    }
    let gallery = Gallery(pictures)
    try await gallery.window.itemsHaveLoaded()
    #expect(gallery.window.items.first?.year == 2019)
    try await gallery.search("Sea")
    #expect(gallery.window.items.count == 50)
    try await gallery.showMore()
    #expect(gallery.window.items.count == 60)
    #expect(!gallery.window.hasMore)
    try await printDecades(of: pictures)
    let years = years(of: pictures)
    try await years.valuesHaveLoaded()
    #expect(years.values == (1900..<2020).map { ValueCount($0, count: 1) })
}
