/// Elements in queues that are first in, first out. An element keeps its place when it moves to another queue.
///
/// The elements of a queue are linked by their places. All steps take constant time.
struct LinkedQueues<Element: Sendable>: Sendable {

    /// The place before the first element, and after the last one.
    static var none: Int { -1 }

    /// The ends of a queue.
    struct Queue: Sendable {
        fileprivate(set) var first = none
        fileprivate var last = none
    }

    private struct Node: Sendable {
        var element: Element
        var next = none
        var previous = none
    }

    private let vacant: Element
    private var nodes: ContiguousArray<Node> = []
    private var free: [Int] = []

    /// - Parameter vacant: What is at a place without an element.
    init(vacant: Element) { self.vacant = vacant }

    subscript(place: Int) -> Element {
        get { nodes[place].element }
        _modify { yield &nodes[place].element }
    }

    /// The place of the element behind another one.
    func next(after place: Int) -> Int { nodes[place].next }

    /// Adds an element, which is in no queue yet.
    ///
    /// - Returns: Its place.
    mutating func add(_ element: Element) -> Int {
        guard let place = free.popLast() else {
            nodes.append(Node(element: element))
            return nodes.count - 1
        }
        nodes[place].element = element
        return place
    }

    /// Appends an element that is in no queue.
    mutating func append(_ place: Int, to queue: inout Queue) {
        (nodes[place].previous, nodes[place].next) = (queue.last, Self.none)
        if queue.last == Self.none { queue.first = place } else { nodes[queue.last].next = place }
        queue.last = place
    }

    /// Takes an element out of its queue.
    mutating func unlink(_ place: Int, from queue: inout Queue) {
        let (next, previous) = (nodes[place].next, nodes[place].previous)
        if previous == Self.none { queue.first = next } else { nodes[previous].next = next }
        if next == Self.none { queue.last = previous } else { nodes[next].previous = previous }
    }

    /// Removes an element that is in no queue.
    mutating func remove(_ place: Int) -> Element {
        free.append(place)
        defer { nodes[place].element = vacant }
        return nodes[place].element
    }
}
