import BodegaTesting

/// Seven scalars, like a product in a catalog; about 140 bytes of JSON.
package struct Flat: Shape {
    package static let name = "flat"

    var id: Int
    var code: String
    var name: String
    var price: Double
    var weight: Double?
    var stock: Int
    var isAvailable: Bool

    package init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        id = number
        code = "EM-\(random.next() % 100_000)-\(random.next() % 100)"
        let kinds = ["Chair", "Desk lamp", "Bookshelf", "Standing desk", "Filing cabinet", "Monitor arm", "Pinboard"]
        let colors = ["black", "white", "oak", "walnut", "light grey", "dark green"]
        name = "\(kinds[Int(random.next() % 7)]), \(colors[Int(random.next() % 6)]), model \(random.next() % 1_000)"
        price = Double(random.next() % 100_000) / 100
        weight = random.next() % 4 == 0 ? nil : Double(random.next() % 50_000) / 1_000
        stock = Int(random.next() % 2_000)
        isAvailable = stock > 100
    }

    package func copied() -> Flat {
        var copy = self
        copy.code = code.copied()
        copy.name = name.copied()
        return copy
    }
}
