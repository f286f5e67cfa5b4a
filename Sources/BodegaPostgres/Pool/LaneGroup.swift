#if Postgres
import Bodega

/// The lanes among which short reads are distributed.
final class LaneGroup: Sendable {

    private let lanes: [ReadLane]

    /// The load from which the next lane is used. A high value saves connections and lets reads share batches.
    private static let sufficientLoad = 8

    init(pool: SessionPool, count: Int) {
        let lanes = (0..<count).map { _ in ReadLane(pool: pool) }
        self.lanes = lanes
        for lane in lanes { pool.whenSuspecting { [weak lane] in lane?.closeIfIdle() } }
    }

    /// The lane for the next read.
    func next() -> ReadLane {
        var best = lanes[0]
        var least = Int.max
        for lane in lanes {
            let load = lane.load
            if load < Self.sufficientLoad { return lane }
            if load < least { (best, least) = (lane, load) }
        }
        return best
    }

    func close() {
        for lane in lanes { lane.close() }
    }
}
#endif
