package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// passedMetadata is what came back with a call that was passed on.
type passedMetadata struct{ header, trailer metadata.MD }

// passOn gives the headers and trailers to the call that is being served.
func (m passedMetadata) passOn(ctx context.Context) error {
	if header := own(m.header); len(header) > 0 {
		if err := grpc.SetHeader(ctx, header); err != nil {
			return err
		}
	}
	if trailer := own(m.trailer); len(trailer) > 0 {
		return grpc.SetTrailer(ctx, trailer)
	}
	return nil
}

// own returns metadata without what each hop makes for itself: gRPC's keys,
// and the request id, which this process answers with already.
func own(md metadata.MD) metadata.MD {
	kept := make(metadata.MD, len(md))
	for key, values := range md {
		if !isReserved(key) && key != requestIDKey {
			kept[key] = values
		}
	}
	return kept
}
