import BodegaTesting
import Foundation

/// A struct in a struct, dictionaries and an array of structs, like an order in a shop; about 600 bytes of JSON.
package struct Nested: Shape {
    package static let name = "nested"

    struct Customer: Codable, Hashable, Sendable {
        var name: String
        var email: String
        var address: Address
    }

    struct Address: Codable, Hashable, Sendable {
        var street: String
        var city: String
        var postalCode: String
    }

    struct Line: Codable, Hashable, Sendable {
        var product: String
        var quantity: Int
        var price: Double
        var isGift: Bool
    }

    var id: UUID
    var customer: Customer
    var lines: [Line]
    var labels: [String: String]
    var counts: [String: Int]
    var discount: Double?

    package init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        id = random.uuid()
        customer = Customer(
            name: "Customer \(random.next() % 10_000)",
            email: "customer.\(number)@mail.example.com",
            address: Address(
                street: "\(random.next() % 200) Market Street",
                city: ["London", "Leeds", "Newcastle upon Tyne", "Edinburgh"][Int(random.next() % 4)],
                postalCode: "EH\(random.next() % 20) \(random.next() % 10)AB"
            )
        )
        lines = (0..<random.next() % 4 + 1).map { _ in
            Line(
                product: "Product number \(random.next() % 5_000)",
                quantity: Int(random.next() % 10) + 1,
                price: Double(random.next() % 20_000) / 100,
                isGift: random.next() % 8 == 0
            )
        }
        labels = [
            "channel": ["web", "phone", "shop"][Int(random.next() % 3)],
            "carrier": ["post", "courier"][Int(random.next() % 2)],
            "campaign": "spring sale, week \(random.next() % 12)",
        ]
        counts = [
            "visits": Int(random.next() % 50), "returns": Int(random.next() % 3), "points": Int(random.next() % 10_000),
        ]
        discount = random.next() % 5 == 0 ? Double(random.next() % 30) / 100 : nil
    }

    package func copied() -> Nested {
        var copy = self
        copy.customer = Customer(
            name: customer.name.copied(),
            email: customer.email.copied(),
            address: Address(
                street: customer.address.street.copied(),
                city: customer.address.city.copied(),
                postalCode: customer.address.postalCode.copied()
            )
        )
        copy.lines = lines.map { line in
            Line(product: line.product.copied(), quantity: line.quantity, price: line.price, isGift: line.isGift)
        }
        copy.labels = Dictionary(minimumCapacity: labels.count)
        for (name, text) in labels { copy.labels[name.copied()] = text.copied() }
        copy.counts = Dictionary(minimumCapacity: counts.count)
        for (name, count) in counts { copy.counts[name.copied()] = count }
        return copy
    }
}
