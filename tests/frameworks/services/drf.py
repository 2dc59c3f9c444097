"""The shop in Django REST framework over WSGI, served by waitress."""

import sys
from pathlib import Path

import waitress

sys.path.append(str(Path(__file__).parent / "django_parts"))

import shop_urls

shop_urls.configure(
    REST_FRAMEWORK={
        "EXCEPTION_HANDLER": "shop_errors.frameworks.drf.answer_exception",
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
    }
)

from django.core.wsgi import get_wsgi_application  # noqa: E402  # after Django is configured
from django.urls import path  # noqa: E402  # after Django is configured
from rest_framework import exceptions, serializers  # noqa: E402  # after Django is configured
from rest_framework.decorators import api_view  # noqa: E402  # after Django is configured
from rest_framework.response import Response  # noqa: E402  # after Django is configured
from shop_errors import NotFound, OutOfStock, SkuTaken  # noqa: E402  # after Django is configured


class OrderSerializer(serializers.Serializer):
    """The body of a new item."""

    sku = serializers.CharField()
    amount = serializers.IntegerField()


@api_view(["GET"])
def show(request, item):
    """One item."""
    if item != "1":
        raise NotFound
    return Response({"id": item})


@api_view(["POST"])
def create(request):
    """A new item."""
    order = OrderSerializer(data=request.data)
    order.is_valid(raise_exception=True)
    if order.validated_data["sku"] == "few":
        raise OutOfStock(available=3)
    return Response(order.data, status=201)


@api_view(["GET"])
def typed(request):
    """An error of the taxonomy."""
    raise SkuTaken


@api_view(["GET"])
def bare(request):
    """A status without a code."""
    failure = exceptions.APIException()
    failure.status_code = 409
    raise failure


@api_view(["GET"])
def crash(request):
    """A bug."""
    raise RuntimeError("hunter2")


shop_urls.urlpatterns[:] = [
    path("items/<item>", show),
    path("items", create),
    *(path(each.__name__, each) for each in (shop_urls.stream, shop_urls.slow)),
    path("typed", typed),
    path("bare", bare),
    path("crash", crash),
]

app = get_wsgi_application()


def serve(port):
    """Answer requests until the process ends."""
    waitress.serve(app, host="127.0.0.1", port=port, send_bytes=1, threads=8)
