import ArgumentParser
import Bodega
import Foundation

/// A comma-separated list, such as `1k,10k`.
struct List<Element: ListElement>: ExpressibleByArgument, Sendable {
    /// The elements without duplicates.
    var elements: [Element]

    /// Parses a list.
    init?(argument: String) {
        elements = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let element = Element(part: part.trimmingCharacters(in: .whitespaces)) else { return nil }
            if !elements.contains(element) { elements.append(element) }
        }
    }

    /// Creates a list.
    init(_ elements: [Element]) {
        self.elements = elements
    }

    var defaultValueDescription: String { elements.map { "\($0)" }.joined(separator: ",") }
}

/// An element of a ``List``.
protocol ListElement: Equatable, Sendable {
    /// Parses an element.
    init?(part: String)
}

extension Operation: ListElement {
    init?(part: String) { self.init(rawValue: part) }
}

/// A number that can also be written as `10k` or `1M`.
struct Count: ListElement, ExpressibleByArgument, CustomStringConvertible {
    /// The number.
    var number: Int

    /// Creates a number.
    init(_ number: Int) {
        self.number = number
    }

    init?(part: String) {
        let factors: [Character: Int] = ["k": 1000, "K": 1000, "M": 1_000_000]
        let factor = part.last.flatMap { factors[$0] }
        guard let number = Int(factor == nil ? part[...] : part.dropLast()), number > 0 else { return nil }
        let (product, overflows) = number.multipliedReportingOverflow(by: factor ?? 1)
        guard !overflows else { return nil }
        self.number = product
    }

    init?(argument: String) { self.init(part: argument) }

    var description: String {
        if number % 1_000_000 == 0 { return "\(number / 1_000_000)M" }
        if number % 1000 == 0 { return "\(number / 1000)k" }
        return "\(number)"
    }
}

/// A duration that can be written as `0.5`, `2s` or `200ms`.
struct Seconds: ExpressibleByArgument, CustomStringConvertible, Sendable {
    /// The duration.
    var duration: Duration

    /// Creates a duration.
    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        let isMilliseconds = argument.hasSuffix("ms")
        let digits =
            isMilliseconds ? argument.dropLast(2) : argument.hasSuffix("s") ? argument.dropLast() : argument[...]
        guard let number = Double(digits), number > 0, number <= 86_400 else { return nil }
        duration = .nanoseconds(Int64(number * (isMilliseconds ? 1e6 : 1e9)))
    }

    var description: String { "\(Double(duration.nanoseconds) / 1e9)" }
}

/// ``StorageDurability`` as a command-line argument.
enum Durability: String, CaseIterable, ExpressibleByArgument, Codable, Sendable {
    case full
    case relaxed

    /// The level for engines.
    var forEngines: StorageDurability { self == .full ? .full : .relaxed }
}
